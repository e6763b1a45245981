/* write.c - a network, or its layers one by one, to where a name says. */
#include "spry/network.h"

#include "network/read.h"

spry_status spry_network_write(const spry_network *n, const char *path)
{
    SP_NEED(n, path);

    spry_layers *layers;
    spry_status s;

    if (sp_ends_in(path, ".spnet"))
        return sp_spnet_write(n, path);
    s = spry_layers_of(&layers, n);
    if (s == SPRY_OK)
        s = sp_challenge_write(layers, path);
    spry_layers_close(layers);
    return s;
}

spry_status spry_layers_write(spry_layers *from, const char *path)
{
    SP_NEED(from, path);
    return sp_ends_in(path, ".spnet") ? sp_spnet_write_layers(from, path)
                                      : sp_challenge_write(from, path);
}
