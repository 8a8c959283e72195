# SPDX-License-Identifier: GPL-2.0
"""Whether KVM can be relied on."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from longfat.machines import vm


@pytest.mark.parametrize(
    ("guest", "works"),
    [
        ("echo VFS: Unable to mount root fs on unknown-block", True),
        ("echo Invalid argument; exit 1", False),
        ("exec sleep 60", False),  # it hangs
    ],
)
def test_a_kvm_that_is_there_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guest: str, works: bool
) -> None:
    """And nothing is left of the try: no file is open."""
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\n{guest}\n")
    qemu.chmod(0o755)
    monkeypatch.setattr(vm, "QEMU", str(qemu))
    monkeypatch.setattr(vm, "KVM", qemu)
    monkeypatch.setattr(vm, "KVM_BOOTS", 0.5)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    gc.disable()
    try:
        assert vm.kvm_works(tmp_path / guest.split()[1]) is works
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        gc.enable()


def test_no_kvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm, "KVM", tmp_path / "kvm")
    assert not vm.kvm_works(tmp_path / "image")
