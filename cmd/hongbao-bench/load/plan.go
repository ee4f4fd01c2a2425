package load

import (
	"errors"
	"fmt"
	"time"
)

// Plan describes one load.
type Plan struct {
	Scenario string        `json:"scenario"`
	Users    int           `json:"users"`
	RoomSize int           `json:"room_size,omitempty"` // chat, storm, and grab with many packets
	Packets  int           `json:"packets,omitempty"`   // grab: number of packets at the same time; 1: hot packets, one after the other; if Closed: number of these
	Shares   int           `json:"shares,omitempty"`    // grab: of each packet
	Rate     float64       `json:"rate,omitempty"`      // requests a second of all users together
	Closed   bool          `json:"closed,omitempty"`    // closed loop: as many requests as users are open, and a request is sent when one is answered
	Missed   int           `json:"missed,omitempty"`    // storm: entries of each room that are sent while all users are disconnected
	Ramp     time.Duration `json:"ramp"`                // time over which the users' first connects are spread
	Duration time.Duration `json:"duration"`
	Seed     uint64        `json:"seed"`
}

// Scenarios are the names of all scenarios.
var Scenarios = []string{"grab", "chat", "idle", "storm"}

// Check returns an error for the first number of the plan that is out of range. It does not check the scenario.
func (p Plan) Check() error {
	for _, number := range []struct {
		name   string
		amount int
	}{{"users", p.Users}, {"room-size", p.RoomSize}, {"packets", p.Packets}, {"shares", p.Shares}} {
		if number.amount < 1 {
			return fmt.Errorf("--%s must be at least 1", number.name)
		}
	}
	switch {
	case p.Duration <= 0:
		return errors.New("--duration must be more than 0")
	case p.Ramp < 0:
		return errors.New("--ramp must not be less than 0")
	case p.Rate <= 0 && !p.Closed:
		return errors.New("--rate must be more than 0")
	case p.Missed < 0:
		return errors.New("--missed must not be less than 0")
	case p.Shares > maxShares:
		return fmt.Errorf("--shares must be at most %d", maxShares)
	}
	return enoughFiles(p.Users)
}

// maxShares is the largest number of shares that a server accepts by default (HONGBAO_MAX_PACKET_COUNT).
const maxShares = 10_000

// spareFiles is how many open files are reserved besides the sockets.
const spareFiles = 256

// enoughFiles returns an error if this process may not open that many sockets.
func enoughFiles(users int) error {
	limit, known := openFiles()
	if known && uint64(users)+spareFiles > limit {
		return fmt.Errorf("%d users need %d open files, this process may have %d: `ulimit -n %d`, or fewer --users",
			users, users+spareFiles, limit, users+spareFiles)
	}
	return nil
}
