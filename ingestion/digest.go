package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digestReader reads to the end, or until ctx is done.
func digestReader(ctx context.Context, r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(&untilDone{ctx, h}, r)
	return hex.EncodeToString(h.Sum(nil)), err
}

type untilDone struct {
	ctx context.Context
	hash.Hash
}

// Write implements io.Writer.
func (u *untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Hash.Write(p)
}
