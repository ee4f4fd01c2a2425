//go:build race

package redpacket

const raceDetector = true
