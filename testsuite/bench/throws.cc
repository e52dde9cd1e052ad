// SPDX-License-Identifier: GPL-2.0-or-later
// The library whose functions an exception passes through.
long throws(long x);
long passes(long x);

long throws(long x)
{
	throw x + 1;
}

// Has something to clean up, so that the unwinder stops here.
long passes(long x)
{
	struct Guard {
		long *value;
		~Guard()
		{
			++*value;
		}
	} guard{&x};

	return throws(x) + 1;
}
