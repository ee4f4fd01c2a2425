//go:build !linux

package loopback

const orphanFolder = "HONGBAO_TEST_ORPHANS"

func startOrphans(string) {}
