"""The tiny models of the training tests serve here too."""

from ..training.conftest import family_tokenizer, load_tiny, miti_folder, tiny_model, tiny_swallow, tokenizer

__all__ = ["family_tokenizer", "load_tiny", "miti_folder", "tiny_model", "tiny_swallow", "tokenizer"]
