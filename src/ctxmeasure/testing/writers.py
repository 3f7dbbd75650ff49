"""The writers of the built-in sources, by source; add yours here if your source is built in."""

from __future__ import annotations

from collections.abc import Mapping

from .acp import session as acp_session
from .claude import payloads as claude_payloads
from .claude.stream import StreamWriter
from .claude.transcript import TranscriptWriter
from .codex.app_server import AppServerWriter
from .codex.exec import ExecWriter, OldExecWriter
from .codex.hook import HookWriter as CodexHookWriter
from .codex.rollout import RolloutWriter, RolloutWriter0115, RolloutWriter0145
from .cursor import handed_over
from .cursor.stores import ChatStoreWriter, ComposerWriter
from .pi.rpc import RpcWriter
from .pi.session import SessionWriter, SessionWriterFormat1
from .pi.stream import StreamWriter as PiStreamWriter
from .session import Writer
from .text import TextWriter

__all__ = ["TWINS", "WRITERS"]

WRITERS: Mapping[str, tuple[type[Writer], ...]] = {
    "claude.transcript": (TranscriptWriter,),
    "claude.stream": (StreamWriter,),
    "claude.status_line": (claude_payloads.StatusLineWriter,),
    "claude.context_usage": (claude_payloads.ContextUsageWriter,),
    "claude.hook": (claude_payloads.HookWriter,),
    "codex.rollout": (RolloutWriter, RolloutWriter0115, RolloutWriter0145),
    "codex.app_server": (AppServerWriter,),
    "codex.exec": (ExecWriter, OldExecWriter),
    "codex.hook": (CodexHookWriter,),
    "cursor.hook": (handed_over.HookWriter,),
    "cursor.status_line": (handed_over.StatusLineWriter,),
    "cursor.chat_store": (ChatStoreWriter,),
    "cursor.composer": (ComposerWriter,),
    "pi.session": (SessionWriter, SessionWriterFormat1),
    "pi.stream": (PiStreamWriter,),
    "pi.rpc": (RpcWriter,),
    "acp.session": (
        acp_session.SessionWriter,
        acp_session.ClaudeBridgeWriter,
        acp_session.KiroWriter,
    ),
    "text": (TextWriter,),
}
"""The session writers of each source, one for each form that differs in more than a field."""

TWINS: Mapping[str, str] = {
    "claude.stream": "claude.transcript",
    "codex.app_server": "codex.rollout",
    "pi.stream": "pi.session",
}
"""For a stream, the file in which the agent keeps the same sessions."""
