"""How far texts bear on a question, each read beside it: on torch, or over HTTP."""
