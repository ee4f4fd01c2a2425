package load

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Hardware describes the machine of a run.
type Hardware struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Memory int64  `json:"memory"` // bytes
	System string `json:"system"`
	Go     string `json:"go"`
}

// ThisMachine returns the known facts about this machine.
func ThisMachine() Hardware {
	return Hardware{
		Cores: runtime.NumCPU(), CPU: cpuModel(), Memory: memory(), System: system(), Go: runtime.Version(),
	}
}

// String describes the machine in one line.
func (h Hardware) String() string {
	return fmt.Sprintf("%d cores of %s, %.0f GiB, %s, %s", h.Cores, h.CPU, float64(h.Memory)/(1<<30), h.System, h.Go)
}

// named returns the value of the first line of a file that begins with name; "unknown" if there is none.
func named(file, name, separator string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for message := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(message, separator)
		if ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return "unknown"
}

func cpuModel() string {
	if model := named("/proc/cpuinfo", "model name", ":"); model != "unknown" {
		return model
	}
	return runtime.GOARCH
}

func memory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "MemTotal:") << 10
}

func system() string {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return named("/etc/os-release", "PRETTY_NAME", "=") + ", " + runtime.GOOS + " " + strings.TrimSpace(string(kernel))
}
