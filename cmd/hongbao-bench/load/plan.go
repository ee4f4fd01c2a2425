package load

import (
	"errors"
	"fmt"
	"time"
)

// Plan is one load.
type Plan struct {
	Scenario string        `json:"scenario"`
	Users    int           `json:"users"`
	RoomSize int           `json:"room_size,omitempty"` // chat, storm, and grab with many packets
	Packets  int           `json:"packets,omitempty"`   // grab: so many at the same time; 1: hot ones, one after the other
	Shares   int           `json:"shares,omitempty"`    // grab: of each packet
	Rate     float64       `json:"rate,omitempty"`      // a second, all users together
	Closed   bool          `json:"closed,omitempty"`    // the next when the last is answered, as fast as that goes; no rate
	Missed   int           `json:"missed,omitempty"`    // storm: entries of each room while everybody is away
	Ramp     time.Duration `json:"ramp"`                // in which users come
	Duration time.Duration `json:"duration"`
	Seed     uint64        `json:"seed"`
}

// Scenarios that there are.
var Scenarios = []string{"grab", "chat", "idle", "storm"}

// Check says what is wrong with a plan.
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

// maxShares is what a packet has at most, by default.
const maxShares = 10_000

// spareFiles is what a process has open besides its sockets.
const spareFiles = 256

// enoughFiles says whether so many sockets can be open, and what to do when not.
func enoughFiles(users int) error {
	limit, known := openFiles()
	if known && uint64(users)+spareFiles > limit {
		return fmt.Errorf("%d users need %d open files, this process may have %d: `ulimit -n %d`, or fewer --users",
			users, users+spareFiles, limit, users+spareFiles)
	}
	return nil
}
