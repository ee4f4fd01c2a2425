// Package nodes connects to the nodes of a Redis installation, checks them, and calls Lua scripts on them. It decodes the
// URL of the installation, and tells hongbao doctor what is wrong with the installation. It does not know what the scripts
// do. It imports chat and redpacket only for an error and for comparing clocks.
//
// Invariants:
//
//   - A client with Checks sends no script except the probe's own to a node before the node was probed once and found fit.
//   - Outside a cluster, the driver repeats no command by itself. A cluster's client follows redirects, and repeats a
//     command whose connection failed, unless the command forbids it (NoRetry).
//   - Run and Retry repeat only calls that failed for the moment or lost their connection. Every script that they run must
//     be safe to repeat.
//   - Run returns within Patience, and Run and Retry return by the deadline of their context, whatever Redis does. No call
//     waits for a node that it does not need.
//   - No error and no log contains a password.
package nodes
