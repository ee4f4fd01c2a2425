package main

import "time"

// Comparison is the result of `compare`, as --json writes it.
type Comparison struct {
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Machine  string    `json:"machine"`
	Workload string    `json:"workload"`
	Seed     uint64    `json:"seed"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Flaws    []Shown   `json:"flaws,omitempty"`
}

// Outcome is the result of one scheme with one workload. Latencies are over all grabs, whatever their answer; durations are
// nanoseconds.
type Outcome struct {
	Scheme         string        `json:"scheme"`
	From           string        `json:"from"`
	Decides        string        `json:"decides"`
	Stores         string        `json:"stores"`
	GrabsPerSecond float64       `json:"grabs_per_second"` // grabs that got a share
	Answers        float64       `json:"answers_per_second"`
	P50            time.Duration `json:"p50"`
	P99            time.Duration `json:"p99"`
	P999           time.Duration `json:"p999"`
	Retries        int           `json:"retries"`
	Callers        int           `json:"callers"`
	Packets        int           `json:"packets"`
	Shares         int           `json:"shares"` // of each packet
	Grabs          int           `json:"grabs"`  // grabs that were made
	Won            int           `json:"won"`
	Finished       bool          `json:"finished"` // all grabs were made within the time budget
	Note           string        `json:"note,omitempty"`
	Verdicts       []Check       `json:"verdicts"`
	MeanByPlace    []float64     `json:"mean_by_place,omitempty"` // mean share by rank; 1 is a fair share
	took           time.Duration // of all grabs
}

// Check is the verdict on one requirement in this run. A scheme has no Check for a requirement that does not apply to
// it.
type Check struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail"`
}

// Names of the checks, in the order of the report.
const (
	checkMoney  = "paid = funded"
	checkTwice  = "no user twice"
	checkStored = "answer is stored"
	checkKill   = "answer survives a kill"
	checkLeft   = "no early refusal"
	checkRefund = "rest refunded"
)

func checkNames() []string {
	return []string{checkMoney, checkTwice, checkStored, checkKill, checkLeft, checkRefund}
}

// Shown is a flaw with the result of its reproduction.
type Shown struct {
	Name       string `json:"name"`
	Scheme     string `json:"scheme"`
	Says       string `json:"says"`
	Reproduced bool   `json:"reproduced"`
	Evidence   string `json:"evidence"`
	Ours       string `json:"ours"`
	OursPasses bool   `json:"ours_passes"`
}
