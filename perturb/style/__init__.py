"""Stylers: who paints a picture in another style, on the CPU or with a diffusion model."""
