"""Questions about real text: CNN, CBT, LAMBADA, WikiHop and passages of novels."""
