package metrics

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/web/wire"
)

// Build says what program runs.
type Build struct{ Version, Commit, Go string }

// Events has the figures of the event stream.
type Events struct {
	Lags       map[string]time.Duration // by consumer
	Deliveries map[string]int64         // to the webhook, by outcome
}

// Rows says how many rows for the console were stored, and how many were dropped.
type Rows struct{ Stored, Dropped int64 }

// Web has the figures of the server for clients.
type Web struct {
	ConnectsWaiting, ConnectsRefused, SocketsRefused, HTTPSlow int64
	ConnsClosed                                                int64
	ReadsWaiting, ReadsRefused                                 int64
	Security                                                   map[string]int64
	AdminActs                                                  int64
	Refusals, Sockets                                          Rows // of refused grabs, and of what happened to sockets
	Events                                                     Events
	Questions                                                  []meter.Questions
	Push                                                       map[string]int64 // notifications by outcome
	Files                                                      *files.Stats     // nil: there are no files
}

// Sources are the parts of an instance whose figures are shown.
type Sources struct {
	Build   Build
	Methods []string // commands that exist
	Hub     *hub.Hub
	Chat    *chat.Service
	Packets *redpacket.Service
	Engines func() meter.Engines
	Web     func() Web
}

// Metrics are the metrics of one instance, in a registry of their own.
type Metrics struct {
	Registry *prometheus.Registry

	commands *prometheus.HistogramVec                        // by method and error code ("0": no error)
	answered map[string]*atomic.Pointer[prometheus.Observer] // for commands without an error, by method; nil pointer: not used yet
}

// New returns the metrics of the sources.
func New(s Sources) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		commands: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: commandSeconds.Name, Help: commandSeconds.Help,
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, commandSeconds.Labels),
		answered: map[string]*atomic.Pointer[prometheus.Observer]{},
	}
	for _, method := range s.Methods {
		m.answered[method] = new(atomic.Pointer[prometheus.Observer])
	}
	m.Registry.MustRegister(m.commands, collector{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Command records one command with its error code; 0: none. For the common case, a known method without an error, it takes no
// lock and looks up no label, except at the method's first call.
func (m *Metrics) Command(method string, code wire.Code, took time.Duration) {
	kept := m.answered[method]
	if code != 0 || kept == nil {
		m.commands.WithLabelValues(method, strconv.Itoa(int(code))).Observe(took.Seconds())
		return
	}
	observer := kept.Load()
	if observer == nil {
		made := m.commands.WithLabelValues(method, "0")
		observer = &made
		kept.Store(observer)
	}
	(*observer).Observe(took.Seconds())
}

// collector reads the counters of the sources at each scrape.
type collector struct{ Sources }

// Describe implements prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range all {
		if m != commandSeconds {
			out <- m.desc
		}
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	buildInfo.put(out, 1, c.Build.Version, c.Build.Commit, c.Build.Go)
	c.collectMoney(out)
	c.collectEngines(out)
	c.collectHub(out)
	c.collectWeb(out)
}

func (c collector) collectMoney(out chan<- prometheus.Metric) {
	p := c.Packets.Stats()
	for outcome, n := range map[string]int64{
		"won": p.Won, "already": p.Already, "empty": p.Empty, "expired": p.Expired, "entered": p.Entered, "missed": p.Missed, "elsewhere": p.Elsewhere, "failed": p.Failed,
	} {
		grabs.put(out, float64(n), outcome)
	}
	wonTold.putCounts(out, p.AnswerTime)
	quarantined.put(out, float64(p.Quarantined))
	setAside.put(out, float64(p.SetAside))
	settledAtClose.put(out, float64(p.SettledAtClose))
	swept.put(out, float64(p.Swept))
	endedEarly.put(out, float64(p.EndedEarly))
	closeFailures.put(out, float64(p.CloseFailures))
	sweepFailures.put(out, float64(p.SweepFailures))
	backstopFails.put(out, float64(p.BackstopFailures))
	recoverFailures.put(out, float64(p.RecoverFailures))
	remembered.put(out, float64(p.Remembered))
	fundings.put(out, float64(p.FundingsSent), "sent")
	fundings.put(out, float64(p.FundingsReversed), "reversed")
	fundingFailures.put(out, float64(p.FundingFailures))
	databaseDown.put(out, oneIf(p.OutOfReach))
	if s := c.Packets.LastSample(); s != nil {
		if s.Outbox >= 0 {
			outboxClaims.put(out, float64(s.Outbox))
			outboxOldest.put(out, s.OutboxAge.Seconds())
		}
		packetsOpen.put(out, float64(s.Open))
		escrow.put(out, float64(s.Escrow))
		packetsOverdue.put(out, float64(s.Overdue))
		overdueSeconds.put(out, s.Late.Seconds())
		quarantine.put(out, float64(s.Quarantined))
	}
}

func (c collector) collectEngines(out chan<- prometheus.Metric) {
	e := c.Engines()
	for _, w := range e.Work {
		batchSeconds.putCounts(out, w.Took, w.Engine, w.Name)
		batchSize.putCounts(out, w.Size, w.Engine, w.Name)
		workWaiting.put(out, float64(w.Waiting), w.Engine, w.Name)
	}
	for _, p := range e.Connections {
		connections.put(out, float64(p.Idle), p.Engine, p.Use, "idle")
		connections.put(out, float64(max(0, p.Open-p.Idle)), p.Engine, p.Use, "busy")
		if p.Most > 0 {
			connectionMax.put(out, float64(p.Most), p.Engine, p.Use)
		}
		poolWaits.put(out, float64(p.Waits), p.Engine, p.Use)
		poolWaited.put(out, p.Waited.Seconds(), p.Engine, p.Use)
		poolFailures.put(out, float64(p.Failed), p.Engine, p.Use)
	}
	if e.Bus != nil {
		busPeers.put(out, float64(e.Bus.Peers))
		busQueued.put(out, float64(e.Bus.Queued))
		busBytes.put(out, float64(e.Bus.QueuedBytes))
		busDropped.put(out, float64(e.Bus.Dropped))
	}
	for _, d := range c.Packets.Clocks() {
		clock.put(out, d.Ahead.Seconds(), d.Clock)
	}
	epochChanges.put(out, float64(c.Chat.Epochs()))
	searchWaiting.put(out, float64(c.Chat.Unindexed()))
	old := c.Chat.RetentionStats()
	textsRetired.put(out, float64(old.Texts))
	retentionLate.put(out, old.Late.Seconds())
	retentionHeld.put(out, float64(old.Held))
	for _, h := range c.Packets.KnownHeads() {
		number, first := strconv.FormatInt(h.Chain, 10), append([]byte{0, 0}, h.Hash[:6]...)
		chainSeconds.put(out, float64(h.Link>>20)/1000, number)
		chainHash.put(out, float64(binary.BigEndian.Uint64(first)), number)
	}
}

func (c collector) collectHub(out chan<- prometheus.Metric) {
	h := c.Hub.Stats()
	busDown.put(out, oneIf(h.BusDown))
	busForged.put(out, float64(h.Forged))
	gapRepairs.put(out, float64(h.GapRepairs))
	sockets.put(out, float64(h.Connections))
	topics.put(out, float64(h.Topics))
	queuedBytes.put(out, float64(h.QueuedBytes))
	deliveries.put(out, float64(h.Delivered))
	resumes.put(out, float64(h.Resumes))
	shed.put(out, float64(h.Shed))
	slow.put(out, float64(h.Slow))
	closedByPeer.put(out, float64(h.ClosedByPeer))
	lost.put(out, float64(h.Lost))
	for code, n := range h.Closes {
		closes.put(out, float64(n), strconv.Itoa(code))
	}
}

func (c collector) collectWeb(out chan<- prometheus.Metric) {
	w := c.Web()
	connectsWaiting.put(out, float64(w.ConnectsWaiting))
	connectsRefused.put(out, float64(w.ConnectsRefused))
	socketsRefused.put(out, float64(w.SocketsRefused))
	httpSlow.put(out, float64(w.HTTPSlow))
	connsClosed.put(out, float64(w.ConnsClosed))
	readsWaiting.put(out, float64(w.ReadsWaiting))
	readsRefused.put(out, float64(w.ReadsRefused))
	for kind, n := range w.Security {
		security.put(out, float64(n), kind)
	}
	adminActs.put(out, float64(w.AdminActs))
	for of, counts := range map[string]Rows{"refusals": w.Refusals, "sockets": w.Sockets} {
		trailRows.put(out, float64(counts.Stored), of, "stored")
		trailRows.put(out, float64(counts.Dropped), of, "dropped")
	}
	for consumer, lag := range w.Events.Lags {
		eventsLag.put(out, lag.Seconds(), consumer)
	}
	for outcome, n := range w.Events.Deliveries {
		webhookDeliveries.put(out, float64(n), outcome)
	}
	for _, q := range w.Questions {
		for outcome, took := range q.Took {
			hookSeconds.putCounts(out, took, q.Command, outcome)
		}
		hookBroken.put(out, oneIf(q.Broken), q.Command)
		previewsLeftOut.put(out, float64(q.PreviewsLeftOut), q.Command)
	}
	for outcome, n := range w.Push {
		notifications.put(out, float64(n), outcome)
	}
	if w.Files != nil {
		collectFiles(out, *w.Files)
	}
}

func collectFiles(out chan<- prometheus.Metric, f files.Stats) {
	for outcome, n := range f.Uploads {
		fileUploads.put(out, float64(n), string(outcome))
	}
	for way, n := range f.Downloads {
		fileDownloads.put(out, float64(n), way)
	}
	fileReceived.put(out, float64(f.Received))
	fileSent.put(out, float64(f.Sent))
	fileBytesMost.put(out, float64(f.Most))
	fileSweepFailures.put(out, float64(f.SweepFailures))
	for _, c := range f.Store {
		objectSeconds.putCounts(out, c.Took, c.Operation)
		objectFailures.put(out, float64(c.Failures), c.Operation)
	}
	if f.Sample != nil {
		fileBytes.put(out, float64(f.Sample.Bytes))
		filesHeld.put(out, float64(f.Sample.Held))
		filesDropped.put(out, float64(f.Sample.Dropped))
	}
}

func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}
