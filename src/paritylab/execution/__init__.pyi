from .store import Store as Store, StoreError as StoreError
