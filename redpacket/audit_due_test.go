package redpacket

import (
	"testing"
	"time"
)

// TestLongAuditThatFailsIsNotTriedAtOnce asks when a failed audit is due again that took ten minutes. Since its end as much time must have
// passed as it took.
func TestLongAuditThatFailsIsNotTriedAtOnce(t *testing.T) {
	began := time.Now()
	r := auditRecord{Tried: began, Took: 10 * time.Minute, Failed: true, Asked: began}
	for after, want := range map[time.Duration]bool{10 * time.Minute: false, 19 * time.Minute: false, 20 * time.Minute: true} {
		if got := r.due(began.Add(after), 0); got != want {
			t.Errorf("%v after its beginning it is due: %t, want %t", after, got, want)
		}
	}
}
