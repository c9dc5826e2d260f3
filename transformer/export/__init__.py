"""Traces and comparisons as pictures, files, reports and words; whatever they show comes from transformer/analysis."""
