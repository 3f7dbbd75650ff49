"""``ctxmeasure sources``: the table of what can be read."""

from __future__ import annotations

from command_line import lines, run

from ctxmeasure import registry


def test_every_source_has_a_line() -> None:
    result = run("sources")
    header, *rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert header == ["id", "kind", "method", "channel", "about"]
    assert [row[0] for row in rows] == list(registry.ids())
    assert all(all(cells) for cells in rows)
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_kind_says_how_a_source_is_read() -> None:
    kinds = {source["id"]: source["kind"] for source in lines(run("sources", "--json").stdout)[0]}
    assert kinds["claude.transcript"] == "tail"
    assert kinds["claude.stream"] == "stream"
    assert kinds["claude.status_line"] == "payload"


def test_json_says_the_same_as_the_table() -> None:
    (listed,) = lines(run("sources", "--json").stdout)
    table = run("sources").stdout.splitlines()[1:]
    assert ["\t".join(source.values()) for source in listed] == table
