//go:build race

package pgstore

const raceDetector = true
