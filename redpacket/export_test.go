package redpacket

import "context"

// RaceDetector tells the tests outside of the package that everything takes ten times as long.
const RaceDetector = raceDetector

// Idle waits until nothing runs in the background any more.
func (s *Service) Idle() { s.closers.running.Wait() }

// Pass runs each background task once, at this moment, instead of at the ticks of Run.
func (s *Service) Pass(ctx context.Context) {
	s.note("recovery", &s.counts.recover, s.flow.recover(ctx))
	s.note("backstop", &s.counts.backstop, s.flow.backstop(ctx, s.closeSoon))
	s.sweep(ctx)
	s.Idle()
}
