"""Contact of surfaces that never pass through each other (M23): grid, impulses, zones."""
