"""Row contracts: Features constants, JSON Schema, invariants, versions. One file per dataset."""
