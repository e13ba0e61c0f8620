"""Scaled dot-product and multi-head attention, recorded on real models and shown step by step."""
