package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hongbao/store/enginetest"
	"hongbao/web/ops/metrics"
)

var (
	alertsFile    = filepath.Join("deploy", "alerts.yaml")
	alertTests    = filepath.Join("deploy", "alerts_test.yaml")
	dashboardFile = filepath.Join("deploy", "dashboard.json")
)

// series returns the names of all time series that an instance has.
func series(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{"up": true} // Prometheus itself makes it
	add := func(name string, histogram bool) {
		if !histogram {
			names[name] = true
			return
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			names[name+suffix] = true
		}
	}
	for _, m := range metrics.All() {
		add(m.Name, m.Kind == "histogram")
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := r.Gather()
	noError(t, err)
	for _, f := range families {
		add(f.GetName(), false)
	}
	return names
}

// dashboardQueries returns the queries of all panels.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
	}
	noError(t, json.Unmarshal([]byte(readText(t, dashboardFile)), &board))
	for _, p := range board.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 20 {
		t.Fatalf("the dashboard has %d queries, want at least 20", len(queries))
	}
	return queries
}

// TestQueriesNameMetricsThatExist checks the alerts, their tests, the dashboard, and the pages for operators.
func TestQueriesNameMetricsThatExist(t *testing.T) {
	known, roles := series(t), readText(t, "deploy/roles.sql") // roles of Postgres have such names, too
	named := regexp.MustCompile(`\b(hongbao|process|go)_[a-z_]+[a-z]\b`)
	check := func(where, text string) {
		for _, name := range named.FindAllString(text, -1) {
			if !known[name] && !strings.Contains(roles, name) {
				t.Errorf("%s names the metric %s, which no instance has", where, name)
			}
		}
	}
	for _, file := range []string{alertsFile, alertTests} {
		for line := range strings.Lines(readText(t, file)) {
			if strings.Contains(line, "expr:") || strings.Contains(line, "series:") {
				check(file, line)
			}
		}
	}
	for _, query := range dashboardQueries(t) {
		check(dashboardFile, query)
	}
	for _, page := range []string{"metrics.md", "operate.md"} {
		for _, code := range regexp.MustCompile("`hongbao_[^`]*`").FindAllString(readText(t, page), -1) {
			name := strings.Trim(code, "`")
			if !slices.ContainsFunc(metrics.All(), func(m *metrics.Metric) bool { return m.Name == name }) {
				check(page, code)
			}
		}
	}
}

// TestAlertsSayWhatToDo checks that each alert has a severity, a summary and a remedy, and a test in which it fires.
func TestAlertsSayWhatToDo(t *testing.T) {
	rules := strings.Split(readText(t, alertsFile), "- alert: ")[1:]
	if len(rules) < 10 {
		t.Fatalf("%s has %d alerts, want at least 10", alertsFile, len(rules))
	}
	tests := readText(t, alertTests)
	for _, rule := range rules {
		name, _, _ := strings.Cut(rule, "\n")
		for _, want := range []string{"severity: ", "summary: '", "do: '"} {
			if !strings.Contains(rule, want) {
				t.Errorf("the alert %s has no %s", name, want)
			}
		}
		if !strings.Contains(tests, "name: "+name+" fires\n") || !strings.Contains(tests, "alertname: "+name+"}") {
			t.Errorf("%s shows not both that %s fires, and that it does not while all is well", alertTests, name)
		}
	}
}

// TestAlertsWithPromtool has Prometheus's own tool judge the alerts, run their tests, and parse the queries of the dashboard.
func TestAlertsWithPromtool(t *testing.T) {
	promtool := enginetest.Program(t, "promtool")
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("check", "rules", alertsFile)
	run("test", "rules", alertTests)
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for _, query := range dashboardQueries(t) {
		query = strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "'", "''").Replace(query)
		fmt.Fprintf(&rules, "      - record: panel\n        expr: '%s'\n", query)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	noError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	run("check", "rules", "--lint=none", file)
}
