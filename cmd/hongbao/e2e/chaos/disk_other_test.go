//go:build !linux

package chaos

import "errors"

func mountSmallDisk(string, int) error { return errors.New("only Linux makes small disks here") }

func unmountDisk(string) error { return nil }
