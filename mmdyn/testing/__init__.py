"""Servers and models to test with: a fake server that speaks the APIs of model servers and misbehaves on request."""
