//go:build !race

package redpacket

const raceDetector = false
