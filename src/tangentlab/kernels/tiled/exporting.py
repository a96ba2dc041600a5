"""A Gram matrix on disk as a zarr array, a chunk for each tile."""

from typing import Any

from .tiled_gram import TiledGram


def to_zarr(K: TiledGram, address: str, **options: Any) -> None:
    """Write a Gram matrix to a zarr array; both triangles, tile by tile.

    Args:
        K: The Gram matrix.
        address: A path, or any address that fsspec knows, such as `s3://bucket/gram`
            or `memory://gram`. Nothing may be there yet.
        **options: What fsspec is to know, such as `anon=True`.

    Raises:
        ImportError: If zarr is not installed.
        ValueError: If there is something at that address.
    """
    try:
        import zarr
        from zarr.errors import ContainsArrayError, ContainsGroupError
    except ImportError as error:
        raise ImportError(
            "Export needs zarr and fsspec: pip install 'tangentlab[export]'."
        ) from error
    try:
        made = zarr.create_array(
            address,
            shape=K.shape,
            chunks=tuple(min(K.side, length) for length in K.shape),
            dtype=K.dtype,
            storage_options=options or None,
        )
    except (FileExistsError, ContainsArrayError, ContainsGroupError) as error:
        raise ValueError(
            f"There is something at {address} already: choose another address, or "
            "remove it."
        ) from error
    for rows, columns, values in K.tiles():
        made[rows, columns] = values
