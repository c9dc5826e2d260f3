"""Families of models that differ in one thing each: trained alike, measured alike, and written to one table."""
