"""What agent CLIs write of their conversations into files of their own: what they used, and what no hook says."""
