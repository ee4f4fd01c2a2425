package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"hongbao/redpacket/meter"
)

// Metric is one metric with its labels.
type Metric struct {
	Name, Help string
	Kind       string // gauge, counter or histogram
	Labels     []string

	desc *prometheus.Desc
}

// all holds the metrics in the order of the reference page.
var all []*Metric

// All returns every metric of this package, in the order of the reference page.
func All() []*Metric { return slices.Clone(all) }

func define(kind, name, help string, labels []string) *Metric {
	m := &Metric{Name: "hongbao_" + name, Help: help, Kind: kind, Labels: labels}
	m.desc = prometheus.NewDesc(m.Name, help, labels, nil)
	all = append(all, m)
	return m
}

func gauge(name, help string, labels ...string) *Metric { return define("gauge", name, help, labels) }
func counter(name, help string, labels ...string) *Metric {
	return define("counter", name, help, labels)
}
func histogram(name, help string, labels ...string) *Metric {
	return define("histogram", name, help, labels)
}

// put sends a gauge or counter.
func (m *Metric) put(out chan<- prometheus.Metric, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.Kind == "counter" {
		kind = prometheus.CounterValue
	}
	out <- prometheus.MustNewConstMetric(m.desc, kind, value, labels...)
}

// putCounts sends a histogram.
func (m *Metric) putCounts(out chan<- prometheus.Metric, c meter.Counts, labels ...string) {
	out <- prometheus.MustNewConstHistogram(m.desc, c.Count, c.Sum, c.Buckets, labels...)
}

// The instance and its commands.
var (
	buildInfo      = gauge("build_info", "1; the labels say what runs.", "version", "commit", "go")
	commandSeconds = histogram("command_seconds", "How long commands took, by method and error code (0: none).", "method", "code")
)

// Money.
var (
	grabs           = counter("grabs_total", "Grabs by outcome.", "outcome")
	wonTold         = histogram("won_told_seconds", "Time of a grab that won, from the end of the checks of rate and hook to its answer.")
	outboxClaims    = gauge("outbox_claims", "Shares that are granted and not settled yet. "+sampled)
	outboxOldest    = gauge("outbox_oldest_seconds", "Age of the oldest of them; by two clocks. "+sampled)
	packetsOpen     = gauge("packets_open", "Open packets. "+sampled+most)
	escrow          = gauge("packets_open_money", "Money in open packets, in minor units. "+sampled+most)
	packetsOverdue  = gauge("packets_overdue", "Open packets whose deadline has passed. "+sampled+most)
	overdueSeconds  = gauge("packets_overdue_seconds", "How long ago the earliest of these deadlines passed. "+sampled)
	quarantine      = gauge("quarantine_claims", "Claims that could not be paid, in the table quarantine. "+sampled+most)
	quarantined     = counter("claims_quarantined_total", "Claims that could not be paid and were put aside for a person to look at: any is worth an alarm.")
	setAside        = gauge("claims_set_aside", "Claims in the outbox that could not be settled, and are tried again.")
	settledAtClose  = counter("claims_settled_at_close_total", "Claims that SQL lacked when their packet was closed, and that were paid then.")
	swept           = counter("packets_swept_total", "Packets that the sweep found due and began to close.")
	endedEarly      = counter("packets_ended_early_total", "Packets ended early because the database had lost commits.")
	closeFailures   = counter("close_failures_total", "Closes of packets that failed, and are tried again.")
	sweepFailures   = counter("sweep_failures_total", "Rounds of the sweep that could not ask what is due.")
	backstopFails   = counter("backstop_failures_total", "Rounds of the backstop that failed.")
	recoverFailures = counter("recover_failures_total", "Rounds of the recovery of claims that failed.")
	remembered      = gauge("packets_remembered_bytes", "Memory used for packets.")
	fundings        = counter("fundings_total", "Fundings of packets by the host, by their end: sent or reversed.", "end")
	fundingFailures = counter("funding_failures_total", "Rounds that could not reverse the fundings of packets that were not sent.")
)

const (
	sampled = "Sampled: take the maximum."
	most    = " Counts at most 10000."
)

// Engines.
var (
	databaseDown  = gauge("database_down", "1 while the SQL database is out of reach.")
	batchSeconds  = histogram("batch_seconds", "How long batches took: commits of the database, script calls of Redis.", "engine", "work")
	batchSize     = histogram("batch_size", "How many jobs a batch had.", "engine", "work")
	workWaiting   = gauge("work_waiting", "Jobs that wait for their batch, or are in it.", "engine", "work")
	connections   = gauge("pool_connections", "Connections to an engine, by use and state: idle or busy.", "engine", "use", "state")
	connectionMax = gauge("pool_connections_max", "Most connections of the pool.", "engine", "use")
	poolWaits     = counter("pool_waits_total", "How often a call had to wait for a connection.", "engine", "use")
	poolWaited    = counter("pool_wait_seconds_total", "How long calls have waited for connections.", "engine", "use")
	poolFailures  = counter("pool_failures_total", "Calls that got no connection before they gave up.", "engine", "use")
	clock         = gauge("clock_difference_seconds", "How far a clock of Redis or Postgres is ahead of this instance's.", "clock")
	epochChanges  = counter("epoch_changes_total", "New epochs of the database: it had lost commits, or was restored.")
	chainSeconds  = gauge("chain_head_seconds", "Time in the id of the newest link of a hash chain.", "chain")
	chainHash     = gauge("chain_head_hash", "First 48 bits of the hash of that link, as a number.", "chain")
)

// The bus between instances.
var (
	busDown    = gauge("bus_down", "1 while the other instances are not heard.")
	busPeers   = gauge("bus_peers", "Other instances that are heard.")
	busQueued  = gauge("bus_queued_messages", "Messages that wait to be sent to other instances.")
	busBytes   = gauge("bus_queued_bytes", "Bytes of these messages.")
	busDropped = counter("bus_dropped_total", "Messages to other instances that were dropped because too many waited, or came too late.")
	busForged  = counter("bus_forged_total", "Payloads on the bus that were dropped because no instance had sent them: any is worth an alarm.")
	gapRepairs = counter("gap_repairs_total", "Pages of entries fetched because the bus had lost them.")
)

// Clients.
var (
	sockets           = gauge("connections", "Open sockets.")
	topics            = gauge("topics", "Rooms and users with an open socket here.")
	queuedBytes       = gauge("queued_bytes", "Bytes waiting for sockets and other connections of clients.")
	deliveries        = counter("deliveries_total", "Messages queued to sockets.")
	resumes           = counter("resume_reads_total", "Rooms whose entries were read for clients that came back.")
	shed              = counter("shed_total", "Messages without a sequence number dropped for slow sockets.")
	slow              = counter("slow_total", "Sockets that did not take their messages.")
	httpSlow          = counter("http_slow_total", "Connections ended because too many replies over HTTP waited for slow clients.")
	closes            = counter("closes_total", "Sockets closed by us, by code.", "code")
	closedByPeer      = counter("closed_by_peer_total", "Sockets closed by their clients.")
	lost              = counter("lost_total", "Sockets that ended without a close frame.")
	connectsWaiting   = gauge("connects_waiting", "Connects that wait for others.")
	connectsRefused   = counter("connects_refused_total", "Sockets sent away before the upgrade, because too many connect.")
	socketsRefused    = counter("sockets_refused_total", "Sockets sent away before the upgrade, because too many are open here or from their address.")
	connsClosed       = counter("connections_closed_total", "Connections without a socket closed because too many were open here or of their address.")
	readsWaiting      = gauge("reads_waiting", "Commands that read many rows and wait for others.")
	readsRefused      = counter("reads_refused_total", "Commands that read many rows, refused because too many waited.")
	searchWaiting     = gauge("search_rooms_waiting", "Rooms with entries that may not be in the index of the search yet, as far as this instance knows.")
	textsRetired      = counter("retention_texts_total", "Texts that this instance has removed because they were older than their rooms keep texts.")
	retentionLate     = gauge("retention_late_seconds", "In the last pass of the retention, by this instance: since when the text that waited longest should have been removed.")
	retentionHeld     = gauge("retention_rooms_held", "In that pass: rooms with such texts in which a legal hold stops the retention.")
	security          = counter("security_total", "Events that are counted by origin in the table security_counts.", "kind")
	trailRows         = counter("trail_rows_total", "Rows for the console, of refused grabs (refusals) or of what happened to sockets (sockets), that were written, or dropped because too many waited or the database failed: stored or dropped.", "of", "end")
	adminActs         = counter("admin_acts_total", "Acts of administrators, as in the table admin_acts.")
	hookSeconds       = histogram("hook_seconds", "How long questions to the host took, without the wait for a place, by command and outcome: allow, replace, fund, deny; timeout, error, invalid, full and broken gave no verdict.", "hook", "outcome")
	previewsLeftOut   = counter("hook_previews_left_out_total", "Previews of links that the host gave and that were left out because they break a rule: the log line `preview left out` has the reason.", "hook")
	hookBroken        = gauge("hook_broken", "1 while the host has failed so often that questions about the command fail at once.", "hook")
	notifications     = counter("notifications_total", "Notifications to users without a socket, by what became of them: sent, gone (the subscription had ended), refused by the push service, failed, dropped (too many waited).", "outcome")
	webhookDeliveries = counter("webhook_deliveries_total", "Deliveries to the webhook that this instance has tried, by what became of them: accepted, refused (the host does not want this event), failed.", "outcome")
	eventsLag         = gauge("events_lag_seconds", "Age of the oldest event that a consumer of the host has not processed yet. Measured each minute.", "consumer")
)

// Files.
var (
	fileUploads       = counter("file_uploads_total", "Uploads by what became of them: begun, ready, held (until the host releases the file), invalid, denied (by the host), full (HONGBAO_FILES_BYTES), cut (the connection broke), failed (the database, the object store or the question to the host). One that was cut or failed may go on.", "outcome")
	fileDownloads     = counter("file_downloads_total", "Files that users read, by what serves them: server, or the object store itself.", "by")
	fileReceived      = counter("file_received_bytes_total", "Bytes of uploads.")
	fileSent          = counter("file_sent_bytes_total", "Bytes of files that this server has sent.")
	fileBytes         = gauge("file_bytes", "Bytes of all uploads that are kept. Counted each minute.")
	fileBytesMost     = gauge("file_bytes_max", "Most of these bytes (HONGBAO_FILES_BYTES); 0: any number.")
	filesHeld         = gauge("files_held", "Files that wait for the host to release them. Counted each minute."+most)
	filesDropped      = gauge("files_dropped", "Files that nobody can read any more, and that the sweep has not removed yet. Counted each minute."+most)
	fileSweepFailures = counter("file_sweep_failures_total", "Removals of files that failed, and are tried again.")
	objectSeconds     = histogram("object_seconds", "How long calls of the object store took, by operation: put, get (until the content can be read), delete, list.", "operation")
	objectFailures    = counter("object_failures_total", "Calls of the object store that failed, and contents that broke off.", "operation")
)
