"""An agent that looks after its own memory: its tools, and a turn that runs them."""
