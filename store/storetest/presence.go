package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
)

// PresenceUnderTest holds the presences of two instances on one engine, with functions to inject faults. The suite
// calls their Run in the tests that need it.
type PresenceUnderTest struct {
	A, B chat.Presence
	// Lease is how long a dead instance's sockets still count as online. 0 marks an engine inside the instance's
	// process: it has no such faults, so their tests are skipped.
	Lease time.Duration
	// Advance moves the engine's clock. Renew makes both instances renew all their sockets once, as Run does several times a
	// lease; the renewals of a killed instance fail. If both are nil, the tests of faults use Run and wait for real time.
	Advance func(time.Duration)
	Renew   func()
	// Kill cuts B off from the engine, as if B's process had died. Forget deletes all data of the engine.
	Kill, Forget func()
}

// TestPresence checks that an engine keeps the contract of chat.Presence.
func TestPresence(t *testing.T, open func(t *testing.T) PresenceUnderTest) {
	for _, test := range []struct {
		name  string
		needs presenceNeeds
		run   func(b *presenceBench)
	}{
		{"online while there is a socket", running, presenceOnline},
		{"leaving with an unknown socket", running, presenceLeaveUnknown},
		{"the oldest goes", asTheyAre, presenceOldest},
		{"a known socket keeps its place", asTheyAre, presenceKnown},
		{"entering at once", asTheyAre, presenceRace},
		{"the first comes, the last goes", asTheyAre, presenceFirstAndLast},
		{"the first and the last of many at once", asTheyAre, presenceOneFirst},
		{"users are apart", running, presenceApart},
		{"many users at once", running, presenceMany},
		{"an instance that stops forgets its own", running, presenceStop},
		{"sockets are renewed", faults, presenceRenewed},
		{"a dead instance is forgotten", faults, presenceDead},
		{"expired sockets push no socket out", faults, presenceDeadCount},
		{"lost sockets are entered again in order", faults, presenceLost},
		{"a socket that left is not entered again", faults, presenceLeft},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := open(t)
			if test.needs == faults && u.Lease == 0 {
				return
			}
			b := &presenceBench{PresenceUnderTest: u, T: t}
			if test.needs == running || test.needs == faults && u.Advance == nil {
				b.stopA, b.stopB = runPresence(t, u.A), runPresence(t, u.B)
			}
			test.run(b)
		})
	}
}

// presenceNeeds says under which conditions a test can run.
type presenceNeeds int

const (
	running   presenceNeeds = iota
	asTheyAre               // no Run is active: it could enter a socket again that another instance has removed
	faults                  // sockets are renewed, by Run or by Renew, and the engine can lose data
)

// presenceBench holds an engine under test. Its helpers fail the test if the engine fails.
type presenceBench struct {
	PresenceUnderTest
	*testing.T
	stopA, stopB func()
}

// runPresence runs a presence until stop is called or the test ends.
func runPresence(t *testing.T, p chat.Presence) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// enters calls Enter and checks which sockets it removes because the user has too many.
func (b *presenceBench) enters(p chat.Presence, user, socket string, most int, want ...string) {
	b.Helper()
	out, _, err := p.Enter(context.Background(), user, socket, most)
	noError(b, err)
	if !slices.Equal(out, want) {
		b.Errorf("%s with %s, %d at most: %q have to go, want %q", user, socket, most, out, want)
	}
}

func (b *presenceBench) leaves(p chat.Presence, user, socket string) {
	b.Helper()
	if _, err := p.Leave(context.Background(), user, socket); err != nil {
		b.Fatal(err)
	}
}

func (b *presenceBench) ask(p chat.Presence, users ...string) []bool {
	b.Helper()
	online, err := p.Online(context.Background(), users)
	noError(b, err)
	return online
}

// online checks that both instances report the user as online, or with want = false as offline.
func (b *presenceBench) online(user string, want bool) {
	b.Helper()
	for _, p := range []chat.Presence{b.A, b.B} {
		if got := b.ask(p, user); !slices.Equal(got, []bool{want}) {
			b.Errorf("%s is online: %v, want %v", user, got, want)
		}
	}
}

// stepsPerLease is how often Renew is called in each lease that passes by Advance. At the end of each step nearly a quarter
// of a lease has passed since the last renewal.
const stepsPerLease = 4

// each lets time pass by Advance, in steps. It calls done after each step, and ends the step with a renewal. It reports
// whether done has returned true.
func (b *presenceBench) each(while time.Duration, done func() bool) bool {
	for passed := time.Duration(0); passed < while; passed += b.Lease / stepsPerLease {
		b.Advance(b.Lease / stepsPerLease)
		if done() {
			return true
		}
		b.Renew()
	}
	return done()
}

// becomes waits until instance A reports the user as online (or offline), and fails after the given time.
func (b *presenceBench) becomes(user string, want bool, within time.Duration) {
	b.Helper()
	if b.Advance != nil {
		if !b.each(within, func() bool { return b.ask(b.A, user)[0] == want }) {
			b.Fatalf("%s does not become online=%v within %v", user, want, within)
		}
		return
	}
	deadline := time.After(within)
	tick := time.NewTicker(within / 100)
	defer tick.Stop()
	for last := false; b.ask(b.A, user)[0] != want; {
		if last {
			b.Fatalf("%s does not become online=%v within %v", user, want, within)
		}
		select {
		case <-tick.C:
		case <-deadline:
			last = true
		}
	}
}

// stays checks that instance A always reports the users as online (or offline), for the duration in the parameter while.
func (b *presenceBench) stays(want bool, while time.Duration, users ...string) {
	b.Helper()
	if b.Advance != nil {
		b.each(while, func() bool {
			if got := b.ask(b.A, users...); slices.Contains(got, !want) {
				b.Fatalf("%q are online: %v, want all %v", users, got, want)
			}
			return false
		})
		return
	}
	end := time.After(while)
	tick := time.NewTicker(while / 200)
	defer tick.Stop()
	for {
		if got := b.ask(b.A, users...); slices.Contains(got, !want) {
			b.Fatalf("%q are online: %v, want all %v", users, got, want)
		}
		select {
		case <-tick.C:
		case <-end:
			return
		}
	}
}

func presenceOnline(b *presenceBench) {
	b.online("u", false)
	b.enters(b.A, "u", "1", 9)
	b.online("u", true)
	b.enters(b.B, "u", "2", 9)
	b.leaves(b.A, "u", "1")
	b.online("u", true)
	b.leaves(b.B, "u", "2")
	b.online("u", false)
	b.enters(b.B, "u", "3", 9)
	b.online("u", true)
}

func presenceLeaveUnknown(b *presenceBench) {
	b.leaves(b.A, "nobody", "1")
	b.enters(b.A, "u", "1", 9)
	b.leaves(b.A, "u", "another")
	b.leaves(b.B, "u", "another")
	b.online("u", true)
	b.leaves(b.A, "u", "1")
	b.leaves(b.A, "u", "1")
	b.online("u", false)
}

func presenceOldest(b *presenceBench) {
	b.enters(b.A, "u", "z", 3)
	b.enters(b.B, "u", "y", 3)
	b.enters(b.A, "u", "x", 3)
	b.enters(b.B, "u", "w", 3, "z")
	b.leaves(b.A, "u", "x")
	b.enters(b.A, "u", "v", 3)
	b.enters(b.A, "u", "t", 3, "y")
	b.enters(b.B, "u", "s", 1, "w", "v", "t")
	b.leaves(b.B, "u", "s")
	b.online("u", false)
}

func presenceKnown(b *presenceBench) {
	b.enters(b.A, "u", "1", 2)
	b.enters(b.B, "u", "2", 2)
	b.enters(b.A, "u", "1", 2)
	b.enters(b.B, "u", "1", 2)
	b.enters(b.A, "u", "3", 2, "1")
	b.enters(b.B, "u", "2", 2)
	b.enters(b.A, "u", "4", 2, "2")
}

func presenceRace(b *presenceBench) {
	const sockets, most = 60, 7
	var mu sync.Mutex
	gone := map[string]int{}
	var enter sync.WaitGroup
	for i := range sockets {
		p := []chat.Presence{b.A, b.B}[i%2]
		enter.Go(func() {
			out, _, err := p.Enter(context.Background(), "u", fmt.Sprint("s", i), most)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, socket := range out {
				gone[socket]++
			}
		})
	}
	enter.Wait()
	for socket, times := range gone {
		if times > 1 {
			b.Errorf("%s had to go %d times", socket, times)
		}
	}
	if len(gone) != sockets-most {
		b.Errorf("%d of %d sockets had to go, %d may stay", len(gone), sockets, most)
	}
}

func presenceApart(b *presenceBench) {
	users := []string{"a", "A", "a:b", "a.b", "@a", "a-b", "a_b", "1"}
	for _, user := range users {
		b.enters(b.A, user, "same", 1)
	}
	b.leaves(b.B, "a:b", "same")
	if got, want := b.ask(b.B, users...), []bool{true, true, false, true, true, true, true, true}; !slices.Equal(got, want) {
		b.Errorf("online: %v, want %v", got, want)
	}
}

func presenceMany(b *presenceBench) {
	var users []string
	for i := range 700 {
		user := fmt.Sprint("user-", i)
		users = append(users, user)
		if i%3 == 0 {
			b.enters([]chat.Presence{b.A, b.B}[i%2], user, "s"+user, 9)
		}
	}
	slices.Reverse(users)
	users = append(users, users[0], users[1])
	for i, is := range b.ask(b.A, users...) {
		var n int
		fmt.Sscanf(users[i], "user-%d", &n)
		if is != (n%3 == 0) {
			b.Errorf("%s is online: %v", users[i], is)
		}
	}
	if got := b.ask(b.A); len(got) != 0 {
		b.Errorf("of no users: %v", got)
	}
}

func presenceStop(b *presenceBench) {
	b.enters(b.A, "a", "1", 9)
	b.enters(b.B, "both", "2", 9)
	b.enters(b.A, "both", "3", 9)
	b.enters(b.B, "b", "4", 9)
	b.stopA()
	b.online("a", false)
	b.online("both", true)
	b.online("b", true)
	b.leaves(b.B, "both", "2")
	b.online("both", false)
}
