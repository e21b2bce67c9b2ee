"""The tenant's and a space's policy: presets, switches and versions."""
