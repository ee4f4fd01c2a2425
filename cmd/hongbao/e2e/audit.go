package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"hongbao/web/wire"
)

// Audit is the report that `hongbao audit --json` prints.
type Audit struct {
	wire.AuditReply
	Lines []struct {
		Status string `json:"status"`
	} `json:"packet_lines"`
}

// Audit runs `hongbao audit` on the server's database, whether the server runs or not.
func (s *Server) Audit() Audit {
	s.t.Helper()
	report, err := s.TryAudit()
	NoError(s.t, err)
	return report
}

// TryAudit is Audit, but returns an error while the database cannot be reached. It fails the test if the exit code
// contradicts the report.
func (s *Server) TryAudit() (report Audit, err error) {
	cmd := exec.Command(s.binary, "audit", "--data-dir", s.Dir, "--json")
	cmd.Env = append(BareEnvironment(), s.variables...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Audit{}, err
	}
	if err := json.Unmarshal(out, &report); err != nil {
		stderr := ""
		if exit != nil {
			stderr = string(exit.Stderr)
		}
		return Audit{}, fmt.Errorf("hongbao audit --json: %w\n%s\n%s", err, out, stderr)
	}
	if report.OK != (exit == nil) {
		s.t.Errorf("hongbao audit reports ok=%v and ends with %v, want exit code 0 if and only if ok", report.OK, exit)
	}
	return report, nil
}

// MustBalance fails the test on any difference that an audit finds.
func (s *Server) MustBalance() {
	s.t.Helper()
	report := s.Audit()
	for _, d := range report.Differences {
		s.t.Errorf("hongbao audit found a difference: %s %s: %s", d.Kind, d.ID, d.What)
	}
	if report.Funded != report.InWallets+report.InPackets {
		s.t.Errorf("%d was funded, but %d is in wallets and %d in open packets", report.Funded, report.InWallets, report.InPackets)
	}
}
