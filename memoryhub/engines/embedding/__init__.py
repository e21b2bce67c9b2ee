"""Texts to vectors: on ONNX Runtime, on torch, or over an OpenAI-compatible endpoint."""
