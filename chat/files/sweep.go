package files

import (
	"context"
	"time"

	"hongbao/redpacket/crashpoint"
)

const (
	sweepEvery = time.Minute
	sweepLimit = 100 // files of one step
	// uncleanFor is how long the parts of a processed upload are left to the request that has processed it.
	uncleanFor = time.Hour
	// sweepRetry is how long the sweep leaves a file alone after a failure, so that it gets to the others.
	sweepRetry = 10 * time.Minute
)

// Run sweeps each minute until ctx ends, and counts what is there for Stats. All instances may do so.
func (s *Service) Run(ctx context.Context) {
	every := time.NewTicker(sweepEvery)
	defer every.Stop()
	for {
		s.Sweep(ctx)
		s.takeSample(ctx)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// Sweep drops files that were not sent within a day and uploads that have stalled, and removes dropped files and what uploads have left. A file whose removal fails is tried again
// later.
func (s *Service) Sweep(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		now := s.o.Now()
		dropped, err := s.rows.DropUnused(ctx, now.Add(-UnsentFor), now.Add(-StalledFor), now.Add(DropGrace), sweepLimit)
		if err != nil {
			s.o.Log.Warn("unused files not dropped", "err", err)
			return
		}
		swept, err := s.rows.SweptFiles(ctx, now, now.Add(-uncleanFor), sweepLimit)
		if err != nil {
			s.o.Log.Warn("files to remove not listed", "err", err)
			return
		}
		for _, f := range swept {
			s.sweep(ctx, f)
		}
		more = dropped >= sweepLimit || len(swept) >= sweepLimit
	}
}

// sweep removes a dropped file, or the parts of another one's upload.
func (s *Service) sweep(ctx context.Context, f Stored) {
	err := s.remove(ctx, f)
	if err == nil {
		return
	}
	s.counters.sweepFailures.Add(1)
	s.o.Log.Warn("file not removed", "room", f.Room, "file", f.ID, "err", err, "again_in", sweepRetry)
	if err := s.rows.PutOffSweep(ctx, f.Room, f.ID, s.o.Now().Add(sweepRetry)); err != nil {
		s.o.Log.Warn("removal of a file not put off", "room", f.Room, "file", f.ID, "err", err)
	}
}

func (s *Service) remove(ctx context.Context, f Stored) error {
	if f.State != Dropped {
		if err := s.objects.Delete(ctx, f.pieces()...); err != nil {
			return err
		}
		return s.rows.CleanFile(ctx, f.Room, f.ID)
	}
	for {
		objects, err := s.objects.List(ctx, f.ID, "", sweepLimit)
		if err != nil {
			return err
		}
		if len(objects) == 0 {
			crashpoint.Here("file.before-forget")
			_, err := s.rows.ForgetFile(ctx, f.Room, f.ID)
			return err
		}
		names := make([]string, len(objects))
		for n, o := range objects {
			names[n] = o.Name
		}
		if err := s.objects.Delete(ctx, names...); err != nil {
			return err
		}
	}
}
