"""Understanding a network: where its parameters enter, and what reaches them."""
