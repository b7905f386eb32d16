"""Looking at what came out: pairs side by side, replays, audit sheets, labels that people gave, and how well a judge
does on them."""
