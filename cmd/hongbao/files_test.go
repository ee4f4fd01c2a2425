package main

import "testing"

func TestConnectionsLeaveAReserveOfOpenFiles(t *testing.T) {
	for files, want := range map[int]int{0: 0, 50: 1, 300: 204, 1024: 896, 1 << 20: 1<<20 - 4096} {
		if got := connections(files); got != want {
			t.Errorf("%d open files: %d connections, want %d", files, got, want)
		}
	}
}

func TestOneAddressHasAtMostHalfOfTheSockets(t *testing.T) {
	for _, c := range []struct{ files, set, want int }{{300, 2000, 89}, {300, 20, 20}, {300, 0, 0}, {0, 2000, 2000}, {1 << 20, 2000, 2000}, {50, 2000, 1}} {
		if got := (&config{MaxPerAddress: int64(c.set)}).socketsOfAddress(c.files); got != c.want {
			t.Errorf("%d open files and HONGBAO_MAX_SOCKETS_PER_ADDRESS=%d: %d sockets of an address, want %d", c.files, c.set, got, c.want)
		}
	}
}

func TestSocketsFitIntoTheOpenFiles(t *testing.T) {
	for _, c := range []struct{ files, set, want int }{{300, 0, 179}, {300, 100, 100}, {300, 1000, 179}, {0, 0, 0}, {0, 7, 7}} {
		if got := (&config{MaxSockets: int64(c.set)}).sockets(c.files); got != c.want {
			t.Errorf("%d open files and HONGBAO_MAX_SOCKETS=%d: %d sockets, want %d", c.files, c.set, got, c.want)
		}
	}
}
