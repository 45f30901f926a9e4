"""PyTorch's side of hone: modules are loaded, translated, built and timed here (src/bridge/)."""
