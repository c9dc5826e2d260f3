"""Text on its way to the model: sentences in corpora, pieces in a tokenizer, tensors in batches."""
