"""The document that describes the public API: OpenAPI 3.1, made of the contract's models (§ 9)."""
