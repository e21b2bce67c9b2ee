"""What the engine asks of a model, one module a group of purposes; each checks what comes back."""
