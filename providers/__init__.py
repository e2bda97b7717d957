"""The provider catalog, launch recipes and provider checks."""
