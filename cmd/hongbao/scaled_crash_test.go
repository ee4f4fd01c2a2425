package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/redpacket/crashpoint"
	"hongbao/store/storetest"
)

// TestScaledCrashPoints is TestCrashPoints with three servers on one Redis and one Postgres: one of them kills itself
// and stays dead, the others have to finish what it left.
func TestScaledCrashPoints(t *testing.T) {
	binary := build(t, "crashpoints")
	places := make(chan struct{}, 6) // each waits most of its time, for deadlines to pass
	var all sync.WaitGroup
	for _, point := range crashpoint.Points {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(point, func(t *testing.T) { scaledCrashAt(t, binary, point) })
		})
	}
	all.Wait()
}

func scaledCrashAt(t *testing.T, binary, point string) {
	s := newScene(t)
	variables := s.crashVariables(point)
	i := install(t, binary, storetest.Redis(t), storetest.Database(t), nil, nil)
	others := i.nodes
	s.open(i.place())
	dying := i.start(variables...)
	thaw := func() {}
	switch {
	case strings.HasPrefix(point, "recover."): // the others would be as quick to recover what is lost
		i.door.only(dying)
		thaw = freeze(t, others...)
	case strings.HasPrefix(point, "send."): // there is one sender only
		i.door.only(dying)
	default: // half of the people are with the one that dies
		i.door.only(dying, others[0])
	}
	i.door.cut(1)
	s.play(dying.exited, 40*time.Second)
	if !dying.killedItself() {
		t.Fatalf("the process did not come to %s", point)
	}
	thaw()
	i.door.only(others...)
	s.after()
}
