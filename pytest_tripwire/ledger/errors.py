"""What can be wrong with a store. Each message says what, which store, and what to do."""

from __future__ import annotations


class StoreError(Exception):
    """A store could not do what it was asked for. Unless the message says otherwise nothing of it
    was done; a write whose entry could not be stored must not run.
    """


class StoreReadOnlyError(StoreError):
    """This process may read the store, or not even that, and may not write it."""


class StoreFullError(StoreError):
    """There is no room left where the store is."""


class StoreLockedError(StoreError):
    """Somebody else has held the store for longer than this process waits."""


class StoreUnreachableError(StoreError):
    """The store cannot be reached, or the connection was lost. If that was in the middle of a
    change, it is not known whether the change was made.
    """


class NewerSchemaError(StoreError):
    """The store was made by a later release. Nothing in it was touched."""


class StoreDamagedError(StoreError):
    """The file is no database, is another application's, or holds what cannot be read."""


class UnreadableError(StoreDamagedError):
    """One thing that the store holds cannot be read; the others can."""


class UnfitError(StoreError):
    """What was to be kept could not be read back by anybody, so that it was not kept. Nothing of
    what it belongs to was done.
    """
