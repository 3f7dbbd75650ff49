"""One room per agent, one module per source; an adapter decides nothing."""
