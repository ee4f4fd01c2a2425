package main

import "time"

// Comparison is what `compare` has found, as --json writes it.
type Comparison struct {
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Machine  string    `json:"machine"`
	Workload string    `json:"workload"`
	Seed     uint64    `json:"seed"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Flaws    []Shown   `json:"flaws,omitempty"`
}

// Outcome is one scheme's. Latencies are of all grabs, whatever was answered; durations are nanoseconds.
type Outcome struct {
	Scheme         string        `json:"scheme"`
	From           string        `json:"from"`
	Decides        string        `json:"decides"`
	Stores         string        `json:"stores"`
	GrabsPerSecond float64       `json:"grabs_per_second"` // that got a share
	Answers        float64       `json:"answers_per_second"`
	P50            time.Duration `json:"p50"`
	P99            time.Duration `json:"p99"`
	P999           time.Duration `json:"p999"`
	Retries        int           `json:"retries"`
	Callers        int           `json:"callers"`
	Packets        int           `json:"packets"`
	Shares         int           `json:"shares"` // of each packet
	Grabs          int           `json:"grabs"`  // made
	Won            int           `json:"won"`
	Finished       bool          `json:"finished"` // all grabs were made within the budget
	Note           string        `json:"note,omitempty"`
	Verdicts       []Check       `json:"verdicts"`
	MeanByPlace    []float64     `json:"mean_by_place,omitempty"` // 1 is a fair share
}

// Check is a verdict observed in this run. What a scheme has nothing to do with is not among its verdicts.
type Check struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail"`
}

// The checks, in the order in which they are shown.
const (
	checkMoney  = "paid = funded"
	checkTwice  = "nobody twice"
	checkStored = "told is stored"
	checkKill   = "told survives a kill"
	checkLeft   = "nobody refused too early"
	checkRefund = "rest refunded"
)

func checkNames() []string {
	return []string{checkMoney, checkTwice, checkStored, checkKill, checkLeft, checkRefund}
}

// Shown is a flaw and what came of showing it.
type Shown struct {
	Name       string `json:"name"`
	Scheme     string `json:"scheme"`
	Says       string `json:"says"`
	Reproduced bool   `json:"reproduced"`
	Evidence   string `json:"evidence"`
	Ours       string `json:"ours"`
	OursPasses bool   `json:"ours_passes"`
}
