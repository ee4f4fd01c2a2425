package files

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/meter"
)

// Outcome says what became of an upload.
type Outcome string

// The outcomes. An upload may be counted by several of them: it begins, may fail and go on, and becomes ready.
const (
	uploadBegun   Outcome = "begun"
	uploadReady   Outcome = "ready"
	uploadHeld    Outcome = "held"    // until the host releases the file
	uploadInvalid Outcome = "invalid" // the user names a wrong size or name, or the content cannot be read
	uploadDenied  Outcome = "denied"  // by the host
	uploadFull    Outcome = "full"    // all files have Limits.Total bytes
	uploadCut     Outcome = "cut"     // the content has broken off; the upload can go on
	uploadFailed  Outcome = "failed"  // the database, the object store or the question to the host has failed; the upload can go on
)

var outcomes = []Outcome{uploadBegun, uploadReady, uploadHeld, uploadInvalid, uploadDenied, uploadFull, uploadCut, uploadFailed}

// The ways by which users read files.
const (
	byServer = "server"
	byStore  = "store" // the object store serves the file itself
)

// SampleMost bounds what a sample counts.
const SampleMost = 10_000

// Sample is what the rows of files show. Its counts stop at SampleMost.
type Sample struct {
	Bytes   int64 // of all uploads
	Held    int   // files that wait for the host
	Dropped int   // files whose objects are not removed yet
}

// Stats are the figures of the files of this instance since its start, with its last sample.
type Stats struct {
	Uploads        map[Outcome]int64
	Downloads      map[string]int64 // by way: server or store
	Received, Sent int64            // bytes of uploads that are stored, and of downloads
	SweepFailures  int64            // removals that failed, and are tried again
	Store          []StoreCalls     // of the object store
	Most           int64            // Limits.Total
	Sample         *Sample          // nil: there is none, or it is old
}

// StoreCalls are the calls of one operation of the object store. A Get ends when its content can be read.
type StoreCalls struct {
	Operation string
	Took      meter.Counts
	Failures  int64
}

// counters count for Stats.
type counters struct {
	uploads, downloads            map[string]*atomic.Int64 // static
	received, sent, sweepFailures atomic.Int64
	sample                        atomic.Pointer[takenSample]
}

type takenSample struct {
	Sample

	at time.Time
}

func newCounters() *counters {
	c := &counters{uploads: map[string]*atomic.Int64{}, downloads: map[string]*atomic.Int64{byServer: {}, byStore: {}}}
	for _, o := range outcomes {
		c.uploads[string(o)] = new(atomic.Int64)
	}
	return c
}

func (c *counters) upload(o Outcome) { c.uploads[string(o)].Add(1) }

// uploadError counts an upload that has ended with an error, unless the error is about something else, such as the user's standing in the room.
func (c *counters) uploadError(err error) {
	switch {
	case errors.Is(err, chat.ErrLimitExceeded):
		c.upload(uploadFull)
	case errors.Is(err, chat.ErrBadRequest), errors.Is(err, chat.ErrTooLong):
		c.upload(uploadInvalid)
	case !chat.IsRequestError(err), errors.Is(err, chat.ErrUnavailable):
		c.upload(uploadFailed)
	}
}

// Stats returns the figures.
func (s *Service) Stats() Stats {
	all := Stats{
		Uploads: map[Outcome]int64{}, Downloads: map[string]int64{},
		Received: s.counters.received.Load(), Sent: s.counters.sent.Load(), SweepFailures: s.counters.sweepFailures.Load(),
		Store: s.objects.calls(), Most: s.o.Limits.Total,
	}
	for o, n := range s.counters.uploads {
		all.Uploads[Outcome(o)] = n.Load()
	}
	for way, n := range s.counters.downloads {
		all.Downloads[way] = n.Load()
	}
	if taken := s.counters.sample.Load(); taken != nil && s.o.Now().Sub(taken.at).Abs() < 3*sweepEvery {
		all.Sample = &taken.Sample
	}
	return all
}

// takeSample takes a sample. The rows are counted with indexes, a bounded number of them.
func (s *Service) takeSample(ctx context.Context) {
	found, err := s.rows.SampleFiles(ctx, SampleMost)
	if err != nil {
		s.o.Log.Warn("files not counted", "err", err)
		return
	}
	s.counters.sample.Store(&takenSample{found, s.o.Now()})
}

// meteredObjects counts the calls of an object store.
type meteredObjects struct {
	Objects

	put, get, remove, list operation
}

// operation counts the calls of one operation.
type operation struct {
	took     *meter.Histogram
	failures atomic.Int64
}

func newMeteredObjects(o Objects) *meteredObjects {
	m := &meteredObjects{Objects: o}
	for _, op := range []*operation{&m.put, &m.get, &m.remove, &m.list} {
		op.took = meter.NewDurations()
	}
	return m
}

func (m *meteredObjects) calls() (all []StoreCalls) {
	for name, op := range map[string]*operation{"put": &m.put, "get": &m.get, "delete": &m.remove, "list": &m.list} {
		all = append(all, StoreCalls{name, op.took.Read(), op.failures.Load()})
	}
	return all
}

// note counts a call that began then. An object that is not there, bad data and a caller that has gone are no failures of the store.
func (o *operation) note(ctx context.Context, began time.Time, err error) {
	o.took.Observe(int64(time.Since(began)))
	o.failed(ctx, err)
}

func (o *operation) failed(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, chat.ErrNotFound) && !errors.Is(err, ErrData) && !errors.Is(ctx.Err(), context.Canceled) {
		o.failures.Add(1)
	}
}

// Put implements Objects.
func (m *meteredObjects) Put(ctx context.Context, name string, data io.Reader, size int64) error {
	began := time.Now()
	err := m.Objects.Put(ctx, name, data, size)
	m.put.note(ctx, began, err)
	return err
}

// Get implements Objects.
func (m *meteredObjects) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	began := time.Now()
	content, size, err := m.Objects.Get(ctx, name, offset)
	m.get.note(ctx, began, err)
	if err != nil {
		return nil, 0, err
	}
	return &meteredContent{content, ctx, m}, size, nil
}

// Delete implements Objects.
func (m *meteredObjects) Delete(ctx context.Context, names ...string) error {
	began := time.Now()
	err := m.Objects.Delete(ctx, names...)
	m.remove.note(ctx, began, err)
	return err
}

// List implements Objects.
func (m *meteredObjects) List(ctx context.Context, folder, after string, limit int) ([]Object, error) {
	began := time.Now()
	found, err := m.Objects.List(ctx, folder, after, limit)
	m.list.note(ctx, began, err)
	return found, err
}

// meteredContent counts a content that breaks off.
type meteredContent struct {
	io.ReadCloser

	ctx context.Context
	of  *meteredObjects
}

func (c *meteredContent) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.of.get.failed(c.ctx, err)
	}
	return n, err
}

// sentContent counts the bytes that a user reads.
type sentContent struct {
	io.ReadCloser

	bytes *atomic.Int64
}

func (c sentContent) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}
